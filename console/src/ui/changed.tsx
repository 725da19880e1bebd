import { Problem } from '../api/problem.ts'
import { Button } from './parts.tsx'
import { Fault } from './states.tsx'
import css from './ui.module.css'

/**
 * An error of a write with a version. After a change by another person (412), a button shows the
 * stored version. Until then, the typed text stays on the screen.
 */
export function Changed({ error, onReload }: { error: unknown; onReload: () => void }) {
  if (error instanceof Problem && error.status === 412) {
    return (
      <div className={css.notice} role="alert">
        <p className={css.grow}>
          Somebody else changed this after you opened it. Your change is not saved.
        </p>
        <Button onClick={onReload}>Drop mine and show the stored one</Button>
      </div>
    )
  }
  return <Fault error={error} />
}
