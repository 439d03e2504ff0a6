"""The clinic: q, k, v and an output -> which step of the attention went wrong, if any."""

from core.clinic.diagnosis import diagnose
from core.clinic.report import Diagnosis, Explanation

__all__ = ["Diagnosis", "Explanation", "diagnose"]
