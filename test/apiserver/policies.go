package main

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// policies is the real admission plugin of ValidatingAdmissionPolicy, with its own informers over the
// server that it guards.
type policies struct {
	*validating.Plugin
	informers informers.SharedInformerFactory
	stop      chan struct{}
}

func newPolicies(loopback *rest.Config, rules authorizer.Authorizer) (*policies, error) {
	// The informers ask for JSON: built-in types of this server have no protobuf.
	config := rest.CopyConfig(loopback)
	config.ContentType = "application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	made := &policies{validating.NewPlugin(nil), informers.NewSharedInformerFactory(client, 0), make(chan struct{})}
	made.SetExternalKubeInformerFactory(made.informers)
	made.SetExternalKubeClientSet(client)
	made.SetDynamicClient(objects)
	made.SetRESTMapper(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())))
	made.SetDrainedNotification(made.stop)
	made.SetAuthorizer(rules)
	return made, made.ValidateInitialization()
}

// start begins to watch, once the server answers.
func (p *policies) start(generic *genericapiserver.GenericAPIServer) error {
	return generic.AddPostStartHook("watch-policies", func(hook genericapiserver.PostStartHookContext) error {
		p.informers.Start(hook.Done())
		return nil
	})
}

// defaultPolicy sets what the defaulting of the real server sets, without which the plugin fails.
func defaultPolicy(policy *admissionv1.ValidatingAdmissionPolicy) {
	fail, equivalent := admissionv1.Fail, admissionv1.Equivalent
	if policy.Spec.FailurePolicy == nil {
		policy.Spec.FailurePolicy = &fail
	}
	matched := policy.Spec.MatchConstraints
	if matched == nil {
		return
	}
	if matched.MatchPolicy == nil {
		matched.MatchPolicy = &equivalent
	}
	if matched.NamespaceSelector == nil {
		matched.NamespaceSelector = &metav1.LabelSelector{}
	}
	if matched.ObjectSelector == nil {
		matched.ObjectSelector = &metav1.LabelSelector{}
	}
}
