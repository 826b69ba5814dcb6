"""diln beside the topic models of other libraries: the same documents, one judge, each fit a process of its own."""
