package main

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"
)

// selfReviews answers `kubectl auth can-i`: whether the caller may do something.
type selfReviews struct{ authorizer authorizer.Authorizer }

func (selfReviews) New() runtime.Object     { return &authorizationv1.SelfSubjectAccessReview{} }
func (selfReviews) Destroy()                {}
func (selfReviews) NamespaceScoped() bool   { return false }
func (selfReviews) GetSingularName() string { return "selfsubjectaccessreview" }

func (r selfReviews) Create(ctx context.Context, object runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	review := object.(*authorizationv1.SelfSubjectAccessReview)
	asked := review.Spec.ResourceAttributes
	if asked == nil {
		return nil, fmt.Errorf("only resourceAttributes are answered here")
	}
	who, _ := request.UserFrom(ctx)
	decision, reason, err := r.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: who, Verb: asked.Verb, Namespace: asked.Namespace, APIGroup: asked.Group,
		APIVersion: asked.Version, Resource: asked.Resource, Subresource: asked.Subresource,
		Name: asked.Name, ResourceRequest: true,
	})
	review.Status = authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision == authorizer.DecisionAllow, Reason: reason,
	}
	return review, err
}

func installAccessReviews(server *genericapiserver.GenericAPIServer, decides authorizer.Authorizer) error {
	version := authorizationv1.SchemeGroupVersion
	info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, builtinScheme, metav1.ParameterCodec, builtinCodecs)
	info.VersionedResourcesStorageMap[version.Version] = map[string]rest.Storage{
		"selfsubjectaccessreviews": selfReviews{decides},
	}
	return server.InstallAPIGroup(&info)
}

func clientOf(server *genericapiserver.GenericAPIServer) (clientrest.Interface, error) {
	client, err := kubernetes.NewForConfig(server.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	return client.Discovery().RESTClient(), nil
}
