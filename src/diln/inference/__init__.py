"""From counts to a posterior: what is known of topics, weights and locations after seeing documents."""
