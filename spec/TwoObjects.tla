----------------------------- MODULE TwoObjects -----------------------------
(* How an election moves from one lock object to another. A replica of stage 1 uses `from`, of stage 2 both objects,   *)
(* of stage 3 `to`. Replicas of stages 1 and 3 never run at once. A replica of stage 2 holds both objects or nothing:  *)
(* it waits for both, writes `from`, then the same record to `to`, and starts or extends a term only when it has       *)
(* observed this record in both. Each object follows the rules of Lease.tla, where delay, loss and time are explained. *)
EXTENDS Naturals, Sequences
CONSTANTS Procs, Lease, Events, MaxVersion, Mistake  \* as in Lease.tla
VARIABLES log, net,              \* per object: its versions, and the writes that may still commit
          seen, wait, vanished,  \* per process and object, as in Lease.tla
          stage, left            \* per process: 1, 2 or 3; how long it may still work
vars == <<stage, log, net, seen, wait, vanished, left>>
Objects == {"from", "to"}
Uses(p) == CASE stage[p] = 1 -> {"from"} [] stage[p] = 2 -> Objects [] stage[p] = 3 -> {"to"}
CanMix(stages) == Mistake = "skip-a-stage" \/ \A p, q \in Procs : stages[p] <= stages[q] + 1
Absent == [kind |-> "absent", by |-> "nobody", isLatest |-> FALSE, age |-> Lease, uid |-> 0]
Current(o) == log[o][Len(log[o])]                     Seen(p, o) == log[o][seen[p][o]]

(* A record belongs to one attempt of its writer. A newer attempt, or a change by others, ends the attempt. If one of  *)
(* its updates commits later, it might as well have been committed before: see LeaseCheck.tla. Its creates may commit. *)
End(w, p) == IF w.by = p /\ Mistake # "mix-two-attempts" THEN [w EXCEPT !.isLatest = FALSE] ELSE w
InLog(F(_)) == [o \in Objects |-> [v \in DOMAIN log[o] |-> F(log[o][v])]]
NetWithout(p) == [o \in Objects |-> {End(w, p) : w \in {x \in net[o] : x.by # p \/ (x.over = 0 /\ "delete" \in Events)}}]
Record(p, o, kind, age, isLatest) == [kind |-> kind, by |-> p, isLatest |-> isLatest, age |-> age,
                                      over |-> IF Seen(p, o).kind = "absent" THEN 0 ELSE seen[p][o]]
IsHeld(p, o) == Seen(p, o).by = p /\ Seen(p, o).isLatest
MayAcquire(p) == \A o \in IF Mistake = "wait-for-one" /\ stage[p] = 2 THEN {"from"} ELSE Uses(p) :
                    wait[p][o] = 0 /\ vanished[p][o] = 0
Begin(p) == LET o == IF stage[p] = 3 THEN "to" ELSE "from"
                w == Record(p, o, IF left[p] > 0 THEN "renew" ELSE "acquire", 0, TRUE)
            IN /\ left[p] > 0 \/ MayAcquire(p)
               /\ net' = [NetWithout(p) EXCEPT ![o] = @ \cup {w}]
               /\ log' = InLog(LAMBDA x : End(x, p)) /\ UNCHANGED <<stage, seen, wait, vanished, left>>
Continue(p) == LET first == Seen(p, "from")
               IN /\ stage[p] = 2 /\ IsHeld(p, "from") /\ ~IsHeld(p, "to")
                  /\ net' = [net EXCEPT !["to"] = @ \cup {Record(p, "to", first.kind, first.age, TRUE)}]
                  /\ UNCHANGED <<stage, log, seen, wait, vanished, left>>
Release(p) == /\ left[p] > 0 /\ left' = [left EXCEPT ![p] = 0] /\ log' = InLog(LAMBDA w : End(w, p))
              /\ net' = [o \in Objects |-> NetWithout(p)[o] \cup {Record(p, x, "release", Lease, FALSE) : x \in Uses(p) \cap {o}}]
              /\ UNCHANGED <<stage, seen, wait, vanished>>
Store(o, it) == /\ Len(log[o]) < MaxVersion /\ log' = [log EXCEPT ![o] = Append(@, it)]
                /\ net' = [net EXCEPT ![o] = {w \in @ : w.over = 0 /\ "delete" \in Events}]
                /\ UNCHANGED <<stage, seen, wait, vanished, left>>
Commit(o) == \E w \in net[o] :
  /\ IF Current(o).kind = "absent" THEN w.over = 0 ELSE w.over = Len(log[o])
  /\ Store(o, [kind |-> w.kind, by |-> w.by, isLatest |-> w.isLatest, age |-> w.age,
               uid |-> IF w.over = 0 THEN Len(log[o]) + 1 ELSE Current(o).uid])
Delete(o) == /\ "delete" \in Events /\ Current(o).kind # "absent" /\ Store(o, Absent)
             /\ \A p \in Procs : o \in Uses(p) => Seen(p, o).uid = Current(o).uid
WaitFor(p, it) == IF it.kind \in {"absent", "release"} \/ it.by = p THEN 0 ELSE Lease
Observe(p, o) == \E v \in seen[p][o] + 1 .. Len(log[o]) :
  LET it == log[o][v]
      isReplaced == Seen(p, o).kind # "absent" /\ Seen(p, o).uid # it.uid
      isOwn == it.by = p /\ ~isReplaced
      isInBoth == \A x \in Uses(p) \ {o} : IsHeld(p, x)
      starts == left[p] = 0 /\ it.kind = "acquire" /\ it.isLatest /\ (isInBoth \/ Mistake = "hold-one")
      \* `from` had the same record before `to`, and may have a newer renewal of this term by now
      extends == left[p] > 0 /\ it.kind = "renew" /\ (stage[p] # 2 \/ o = "to" \/ Mistake = "extend-with-one")
      isConfirmed == isOwn /\ it.age < Lease /\ (starts \/ extends)
      wasOwn == \A x \in Uses(p) : Seen(p, x).by = p /\ Seen(p, x).kind # "release" /\ Seen(p, x).age < Lease
      isWaitedFor == isReplaced /\ ~wasOwn /\ Mistake # "deletion-is-release"
  IN /\ o \in Uses(p) /\ seen' = [seen EXCEPT ![p][o] = v] /\ wait' = [wait EXCEPT ![p][o] = WaitFor(p, it)]
     /\ vanished' = [vanished EXCEPT ![p][o] = IF isWaitedFor THEN Lease ELSE @]
     /\ left' = [left EXCEPT ![p] = IF isConfirmed THEN Lease - it.age ELSE IF isOwn THEN @ ELSE 0]
     /\ log' = (IF isOwn THEN log ELSE InLog(LAMBDA w : End(w, p))) /\ UNCHANGED stage
     /\ net' = IF isOwn THEN net ELSE NetWithout(p)
Disown(w, p) == IF w.by = p THEN [w EXCEPT !.by = "nobody", !.age = Lease, !.isLatest = FALSE] ELSE w
Restart(p) == /\ "restart" \in Events /\ \E s \in 1 .. 3 : CanMix([stage EXCEPT ![p] = s]) /\ stage' = [stage EXCEPT ![p] = s]
              /\ log' = InLog(LAMBDA w : Disown(w, p)) /\ net' = [o \in Objects |-> {Disown(w, p) : w \in NetWithout(p)[o]}]
              /\ seen' = [seen EXCEPT ![p] = [o \in Objects |-> Len(log[o])]] /\ left' = [left EXCEPT ![p] = 0]
              /\ wait' = [wait EXCEPT ![p] = [o \in Objects |-> WaitFor(p, Disown(Current(o), p))]]
              /\ vanished' = [vanished EXCEPT ![p] = [o \in Objects |-> 0]]
Down(n) == IF n = 0 THEN 0 ELSE n - 1                 Older(w) == IF w.age = Lease THEN w ELSE [w EXCEPT !.age = @ + 1]
Tick == /\ log' = InLog(Older) /\ net' = [o \in Objects |-> {Older(w) : w \in net[o]}] /\ left' = [p \in Procs |-> Down(left[p])]
        /\ wait' = [p \in Procs |-> [o \in Objects |-> Down(wait[p][o])]]
        /\ vanished' = [p \in Procs |-> [o \in Objects |-> Down(vanished[p][o])]] /\ UNCHANGED <<stage, seen>>
All(n) == [p \in Procs |-> [o \in Objects |-> n]]
Init == /\ stage \in {s \in [Procs -> 1 .. 3] : CanMix(s)} /\ left = [p \in Procs |-> 0]
        /\ log = [o \in Objects |-> <<Absent>>] /\ net = [o \in Objects |-> {}]
        /\ seen = All(1) /\ vanished = All(0) /\ wait = All(0)
Next == \/ Tick \/ \E o \in Objects : Commit(o) \/ Delete(o)
        \/ \E p \in Procs : Begin(p) \/ Continue(p) \/ Release(p) \/ Restart(p) \/ \E o \in Objects : Observe(p, o)
Spec == Init /\ [][Next]_vars
MutualExclusion == \A p, q \in Procs : p # q => left[p] = 0 \/ left[q] = 0
=============================================================================
