import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Settings() {
  return <Heading title="Settings" />
}
