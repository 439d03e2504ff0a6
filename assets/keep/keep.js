// Keeps in this tab what a visit has come to, and gives it back when the server has begun a new session: after a
// reload, and after a restart of the server. What is kept goes nowhere else, and is gone when the tab is closed.
//
// Streamlit calls the function with { visit, heard, kept }: the session's own name, whether it has heard what was
// kept before, and what is to be kept now, as text.

const NAME = "attention-tutor visit";

export default function keep({ data, setStateValue }) {
  const { visit, heard, kept } = data;
  try {
    const before = sessionStorage.getItem(NAME);
    if (before && !heard) setStateValue("found", { visit, kept: before });
    else if (kept) sessionStorage.setItem(NAME, kept);
    else sessionStorage.removeItem(NAME);
  } catch {
    // A browser that is told to keep nothing refuses: then a reload begins anew, as it did before.
  }
}
