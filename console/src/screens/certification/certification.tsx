import { useUrlState } from '../../app/use-search.ts'
import { Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { CertificationPage } from './certification-page.tsx'
import { Certifications } from './certifications.tsx'
import { CertifyButton } from './certify.tsx'
import { Comparison } from './comparison.tsx'
import { Policies } from './policies.tsx'
import { VerifyFile } from './verify-file.tsx'

/** Releases that were certified, why, by which policy, and the check of a signed statement. */
export function Certification() {
  const [{ id, base, head }] = useUrlState()
  const isComparing = base !== undefined && head !== undefined
  return (
    <div className={ui.stack}>
      <Heading title="Certification">
        <CertifyButton />
      </Heading>
      <Tabs
        label="Certification"
        tabs={[
          {
            id: 'certifications',
            title: 'Certifications',
            render: () => {
              if (isComparing) return <Comparison base={base} head={head} />
              return id === undefined ? <Certifications /> : <CertificationPage id={id} />
            },
          },
          { id: 'policies', title: 'Policies', render: () => <Policies /> },
          { id: 'verify', title: 'Check a statement', render: () => <VerifyFile /> },
        ]}
      />
    </div>
  )
}
