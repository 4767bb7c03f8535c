"""The task: follow headset and controllers with a whole simulated body, in a furnished room."""
