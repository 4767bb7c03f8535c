"""Write a clip for other programs: python experiments/export_motion.py clip.npz out.bvh|out.glb"""

from qes_jax.commands.export_motion import main

if __name__ == "__main__":
    raise SystemExit(main())
