import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Incident() {
  return <Heading title="Incident" />
}
