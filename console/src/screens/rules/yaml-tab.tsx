import { lazy, Suspense } from 'react'
import { useProject } from '../../session/project.ts'
import { Loading } from '../../ui/states.tsx'
import type { RuleDraft } from './rule-draft.ts'

const YamlEditor = lazy(() =>
  import('./yaml-editor.tsx').then(({ YamlEditor }) => ({ default: YamlEditor })),
)

type YamlProps = { draft: RuleDraft; isLocked: boolean; onChange: (draft: RuleDraft) => void }

/** The rule as a resource. The parser is read when the tab opens. */
export function YamlTab(props: YamlProps) {
  const project = useProject()
  if (project === undefined) return <Loading />
  return (
    <Suspense fallback={<Loading />}>
      <YamlEditor {...props} project={project.name} />
    </Suspense>
  )
}
