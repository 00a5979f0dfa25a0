"""Measure and count, for the data that lessons and tests read"""
