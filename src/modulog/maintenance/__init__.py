"""Updates of what has been materialised: explicit facts change, then what is derived from them."""
