"""A reasoner whose work is done in one task of Spark: descriptions go to the task, a store comes back.

task_reasoner.py    what a user calls, on the driver: reasoning, updates, stores
facts_in_task.py    the same for facts that are given
task_queries.py     the same for answers
task_base.py        what the driver keeps, and how it asks a task
call.py             one request, and the attempts at it
decision.py         whether one task is enough
descriptions.py     what was given, as it travels
fetching.py         things that only Spark can read, put where a task can
task_progress.py    how far a task is
worker.py           what happens in the task, by the local engine
states.py           the folders of states, and how one becomes a state of a user's store
task_change.py      the net change of an update, read from the file that the task has written
"""
