"""A reasoner whose work is done in one task of Spark: descriptions go to the task, a store comes back.

task_reasoner.py    what a user calls, on the driver: reasoning, updates, stores
task_base.py        what the driver keeps and is given, and how it asks a task
task_answers.py     answers, and the net change of an update
descriptions.py     what was given, as it travels; what only Spark can read is put where a task can
call.py             one request, the attempts at it, and how far they are
decision.py         whether one task is enough
states.py           the folders of states, and how one becomes a state of a user's store
worker.py           what happens in the task, by the local engine
place.py            Spark as the place of a task: session, shared folder, memory, sources
job.py              a function that runs in the Python worker of one executor, as a job of one task
"""
