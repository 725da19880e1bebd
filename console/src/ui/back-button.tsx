import { useUrlState } from '../app/use-search.ts'
import { Button } from './parts.tsx'

/** Leads from one thing back to the list of all of them: `names` are dropped from the URL. */
export function BackButton({ all, names }: { all: string; names: readonly string[] }) {
  const [, change] = useUrlState()
  const list = Object.fromEntries(names.map((name) => [name, undefined]))
  return (
    <div>
      <Button small onClick={() => change(list, { push: true })}>
        ← All {all}
      </Button>
    </div>
  )
}
