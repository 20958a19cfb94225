"""Language methods of the papers, their training and their evaluation."""
