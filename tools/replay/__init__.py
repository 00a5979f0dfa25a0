"""Replay what Binder and Colab do"""
