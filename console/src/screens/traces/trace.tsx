import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Trace() {
  return <Heading title="Trace" />
}
