import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Rules() {
  return <Heading title="Rules" />
}
