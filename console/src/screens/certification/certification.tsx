import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Certification() {
  return <Heading title="Certification" />
}
