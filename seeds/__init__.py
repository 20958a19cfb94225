"""Seeds: one text file of URLs per language, a package so that an egg carries them."""
