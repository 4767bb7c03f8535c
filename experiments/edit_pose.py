"""Author poses and motions in the browser: python experiments/edit_pose.py [START] [--scene couch]"""

from qes_jax.commands.edit_pose import main

if __name__ == "__main__":
    raise SystemExit(main())
