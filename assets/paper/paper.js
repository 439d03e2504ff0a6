// Opens the page in a new tab. It is our own HTML with every foreign text escaped, and holds no script.
export default function show({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = () => {
    const address = URL.createObjectURL(new Blob([data.page], { type: "text/html" }));
    window.open(address, "_blank", "noopener");
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // the tab has read it by then
  };
}
