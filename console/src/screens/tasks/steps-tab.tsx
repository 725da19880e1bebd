import { useUrlState } from '../../app/use-search.ts'
import { OutlineView } from '../traces/outline-view.tsx'

/** The steps of a task as a tree, or as bars over time. The selected one is in the URL. */
export function StepsTab({ task_id, mode }: { task_id: string; mode: 'tree' | 'waterfall' }) {
  const [{ observation }, change] = useUrlState()
  return (
    <OutlineView
      source={{ kind: 'task', id: task_id }}
      mode={mode}
      selected={observation}
      onSelect={(id) => change({ observation: id })}
    />
  )
}
