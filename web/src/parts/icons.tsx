// The few pictures that the page has, drawn on a grid of 24.
const PATHS: Record<string, string> = {
  search: "M10.500 4a6.500 6.500 0 1 1 0 13a6.500 6.500 0 0 1 0-13M15.500 15.500 20 20",
  graph: "M6 8a2 2 0 1 0 0-.01M18 6a2 2 0 1 0 0-.01M12 19a2 2 0 1 0 0-.01M7.800 8.600l3.300 8M16.600 7.300l-3.700 9.600M8 7.600l8-1.200",
  timeline: "M12 5a8 8 0 1 0 .01 0M12 9v4.500l3 2",
  inbox: "M4 13l3-8h10l3 8v6H4v-6M4 13h4.500l1.500 3h4l1.500-3H20",
  health: "M3.500 12.500H8l2.500-7 4 13 2.300-6h3.700",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.800v4.400M9 14.800v4.400",
  up: "M7 11v9M7 11l4-7c1.500 0 2.500 1 2.500 2.500V10H19l-1.500 8.500c-.2 1-1 1.500-2 1.500H7",
  down: "M7 13V4M7 13l4 7c1.500 0 2.500-1 2.500-2.500V14H19l-1.500-8.500c-.2-1-1-1.500-2-1.500H7",
  copy: "M9 9h10v11H9zM5 15V4h10",
  open: "M9 5H5v14h14v-4M13 5h6v6M19 5l-9 9",
  minus: "M6 12h12",
  plus: "M6 12h12M12 6v12",
  close: "M6 6l12 12M18 6 6 18",
  dark: "M19 14.500A8 8 0 0 1 9.500 5a8 8 0 1 0 9.500 9.500",
  light: "M12 8a4 4 0 1 0 .01 0M12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  keys: "M4 7h16v10H4zM7.500 10.500h.01M11 10.500h.01M14.500 10.500h.01M8.500 14h7",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
