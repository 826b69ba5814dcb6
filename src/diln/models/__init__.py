"""From a posterior to an estimator: the models, fitted, saved and read back."""
