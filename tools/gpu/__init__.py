"""Check what only a real GPU can show"""
