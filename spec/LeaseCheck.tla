----------------------------- MODULE LeaseCheck -----------------------------
(* What TLC needs to search Lease.tla quickly: states that differ only in what no longer matters are one state. *)
EXTENDS Lease, TLC
Symmetry == Permutations(Procs)
Past(v) == \A p \in Procs : v < seen[p]
Essence(w, isPast) == [w EXCEPT !.after = IF w.by # "nobody" /\ ~isPast /\ @ >= campaign[w.by] THEN 1 ELSE 0,
                                !.age = IF isPast THEN Long ELSE @]
View == <<{Essence(w, FALSE) : w \in net}, seen, wait, vanished, left, [p \in Procs |-> token[p] > 0],
          IF \A p \in Procs : seen[p] >= highest THEN 0 ELSE highest,
          [v \in DOMAIN log |-> IF Past(v) THEN Absent
                                ELSE Essence(log[v], log[v].by # "nobody" /\ seen[log[v].by] > v)]>>
=============================================================================
