// The picture for elsewhere: SVG and PNG as it is seen, GraphML as it is meant.
import type { Around } from "./around";

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "opacity"];

function svgText(): string {
  const shown = document.querySelector<SVGSVGElement>(".picture");
  if (!shown) return "";
  const copy = shown.cloneNode(true) as SVGSVGElement;
  const from = [...shown.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((one, at) => {
    const style = getComputedStyle(from[at] as Element);
    for (const name of KEPT) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute("class");
  });
  const [x, y, width, height] = (copy.getAttribute("viewBox") ?? "").split(" ");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  Object.entries({ x, y, width, height, fill: getComputedStyle(document.body).backgroundColor }).forEach(([name, value]) => ground.setAttribute(name, value ?? ""));
  copy.prepend(ground);
  copy.setAttribute("width", width ?? "");
  copy.setAttribute("height", height ?? "");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

function graphml(found: Around): string {
  const text = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const nodes = found.nodes.map((node) => `<node id="${node.id}"><data key="code">${text(node.code)}</data><data key="title">${text(node.title)}</data></node>`);
  const links = found.links.map((link) => `<edge source="${link.source}" target="${link.target}"><data key="relation">${link.relation}</data><data key="strength">${link.strength}</data></edge>`);
  const keys = ["code", "title"].map((name) => `<key id="${name}" for="node" attr.name="${name}" attr.type="string"/>`);
  keys.push('<key id="relation" for="edge" attr.name="relation" attr.type="string"/>', '<key id="strength" for="edge" attr.name="strength" attr.type="double"/>');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">${keys.join("")}<graph edgedefault="directed">${nodes.join("")}${links.join("")}</graph></graphml>\n`;
}

function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function exportAs(kind: "SVG" | "PNG" | "GraphML", code: string, found: Around): void {
  const name = `${code}.${kind.toLowerCase()}`;
  if (kind === "GraphML") return download(name, new Blob([graphml(found)], { type: "application/xml" }));
  const svg = new Blob([svgText()], { type: "image/svg+xml" });
  if (kind === "SVG") return download(name, svg);
  const picture = new Image();
  picture.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = picture.width * 2;
    canvas.height = picture.height * 2;
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((made) => made && download(name, made));
    URL.revokeObjectURL(picture.src);
  };
  picture.src = URL.createObjectURL(svg);
}
