import { Badge } from '../../ui/parts.tsx'
import { verdictTones } from './texts.ts'

/** The result of a certification, or of a gate, as a word. */
export function Verdict({ of }: { of: string }) {
  return <Badge tone={verdictTones[of]}>{of}</Badge>
}
