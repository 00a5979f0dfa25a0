"""Write the pages of docs/ that are computed"""
