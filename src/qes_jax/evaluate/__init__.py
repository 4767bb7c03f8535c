"""How well a policy tracks: simulation without randomisation, the paper's metrics, tables, figures and playback."""
