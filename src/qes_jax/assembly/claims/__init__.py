"""The paper's tables, measured: which runs they need, trained and evaluated in parts, and what all seeds say."""
