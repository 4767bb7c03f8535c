"""Motion: the clip, the formats it is read from, retargeting, contact labels, sensors, the library."""
