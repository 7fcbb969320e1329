-------------------------- MODULE TwoObjectsCheck --------------------------
(* What TLC needs to search TwoObjects.tla quickly: states that differ only in what no longer matters are one state. *)
(* TLC picks one of the symmetric states before it takes the view, so the number of states may differ by a few in each run. *)
EXTENDS TwoObjects, TLC
Symmetry == Permutations(Procs)
Essence(w, o, v) == IF v < Len(log[o]) /\ \A p \in Procs : seen[p][o] > v \/ o \notin Uses(p) THEN Absent
                    ELSE IF w.by # "nobody" /\ seen[w.by][o] > v THEN [w EXCEPT !.age = Lease] ELSE w
Used(f) == [p \in Procs |-> [o \in Objects |-> IF o \in Uses(p) THEN f[p][o] ELSE 0]]
View == <<stage, net, Used(seen), Used(wait), Used(vanished), left,
          [o \in Objects |-> [v \in DOMAIN log[o] |-> Essence(log[o][v], o, v)]]>>
=============================================================================
