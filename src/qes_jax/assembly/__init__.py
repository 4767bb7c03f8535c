"""What joins the rooms: settings, clips by name, trained policies, training, evaluation, viewing and authoring."""
