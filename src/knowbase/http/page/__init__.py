"""The page at `/`: its built files (`ui/`, from web/), and what of it works without a script."""
