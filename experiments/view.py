"""Look at clips and policies in the browser: python experiments/view.py rooms --clip chair [--html out.html]"""

from qes_jax.commands.view import main

if __name__ == "__main__":
    raise SystemExit(main())
