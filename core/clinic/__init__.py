"""The clinic: q, k, v and an output -> which step of the attention went wrong, if any."""

from core.clinic.diagnosis import diagnose, diagnose_files, diagnose_uploads
from core.clinic.loading import LIMITS
from core.clinic.probe import assert_attention, probe, probe_npz
from core.clinic.report import Diagnosis, Explanation

__all__ = [
    "LIMITS",
    "Diagnosis",
    "Explanation",
    "assert_attention",
    "diagnose",
    "diagnose_files",
    "diagnose_uploads",
    "probe",
    "probe_npz",
]
