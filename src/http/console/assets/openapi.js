// Shows the description of the API. `SwaggerUIBundle` is of the script before this one.
const place = document.querySelector('#api');
SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  docExpansion: 'list',
  // the operations show their schemas
  defaultModelsExpandDepth: -1,
  deepLinking: true,
  // asks a service of others otherwise
  validatorUrl: null,
});
