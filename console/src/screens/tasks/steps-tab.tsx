import ui from '../../ui/ui.module.css'
import { OutlineView } from '../traces/outline-view.tsx'

/** The steps of a task as a tree, or as bars over time. */
export function StepsTab({ task_id, mode }: { task_id: string; mode: 'tree' | 'waterfall' }) {
  return (
    <>
      <h2 className={ui.visuallyHidden}>{mode === 'tree' ? 'Steps' : 'Waterfall'}</h2>
      <OutlineView source={{ kind: 'task', id: task_id }} mode={mode} />
    </>
  )
}
