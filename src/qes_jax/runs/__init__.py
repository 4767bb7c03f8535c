"""A training run on disk and on screen: folder, checkpoints, metrics, tracker, progress, the loop over iterations.

What a run needs to know of the learner is in `loop.Program`; nothing here knows PPO or an environment.
"""
