"""Where tasks run: executors with the interface of ``concurrent.futures``."""
