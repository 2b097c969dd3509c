// The brief as agents get it, each line with the memory that it comes from.
import { access, call, fresh } from "../api";
import { Failure, tell, useAsked } from "../parts/said";
import { documentAddress, go, place, withParams } from "../place";
import { count, thousands } from "../words";

export function Brief() {
  const project = place.value.params.get("project") ?? "";
  const told = useAsked((stop) => call("brief", project ? { project } : {}, stop), [project, fresh.value]);
  const takeOut = async (id: string, code: string): Promise<void> => {
    try {
      await call("verdict", { reference: id, verdict: "forget" });
      tell(`${code} is out of the brief`);
      told.again();
    } catch (error) {
      tell((error as Error).message);
    }
  };
  return (
    <section class="brief">
      <h2>The brief that agents get</h2>
      <label>
        Project <input value={project} placeholder="all" onChange={(event) => go(withParams({ project: event.currentTarget.value.trim() }))} />
      </label>
      {told.error != null && <Failure error={told.error} />}
      {told.value && (
        <p class="faint number">
          {thousands(told.value.tokens)} of {thousands(told.value.max_tokens)} tokens{told.value.left_out > 0 && `, ${count(told.value.left_out, "memory", "memories")} left out`}
        </p>
      )}
      {told.value?.parts.map((part) => (
        <section key={part.heading}>
          <h3>{part.heading}</h3>
          <ul class="plain">
            {part.items.map((item) => (
              <li key={item.id}>
                <span dir="auto">{item.text || item.title}</span>{" "}
                <a class="code" href={documentAddress(item.code)}>
                  {item.code}
                </a>
                {access.value.write && (
                  <button type="button" class="quiet" onClick={() => void takeOut(item.id, item.code)}>
                    Take out
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {told.value && !told.value.parts.length && <p class="faint">There are no decisions, lessons or summaries of sessions yet.</p>}
    </section>
  );
}
