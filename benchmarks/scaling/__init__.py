"""How far a fit scales: what a sweep costs, measured here, and a simulation of many machines with these figures."""
