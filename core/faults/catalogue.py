from dataclasses import dataclass
@dataclass(frozen=True)
class Fault:
    label: str
    title: str
    faulty_line: str=""
    right_line: str=""
    page: str=""
BAD_INPUT={}
def fault_named(label): return Fault(label,label)
