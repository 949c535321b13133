"""How long lookups and preparations take, beside the least that they could take.

python -m benchmarks prepare     one session of many messages -> one context message
python -m benchmarks scan        many small sessions -> those that match a query
python -m benchmarks imports     what `import sessionref` adds to what it stands on

corpus.py     the sessions, the same for every run
fresh.py      one measurement a process, ours and the floor in turns
report.py     results as a table, as JSON and as a picture
"""
